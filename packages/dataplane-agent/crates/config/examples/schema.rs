//! Prints the JSON Schema of the compiled configuration and of the agent's messages; the TypeScript
//! types are made from it.

use std::io::Write;

use schemars::JsonSchema;
use tollway_config::dataplane::DataplaneConfig;
use tollway_config::protocol::{Message, Request};

/// The roots of the schema: everything else hangs on them.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
#[allow(dead_code, reason = "only its schema is used")]
struct Agent {
    /// What the API's compiler makes.
    config: DataplaneConfig,
    /// Client to agent.
    request: Request,
    /// Agent to client.
    message: Message,
}

fn main() -> std::io::Result<()> {
    let schema = schemars::schema_for!(Agent);
    let mut text = serde_json::to_string_pretty(&schema)?;
    text.push('\n');
    std::io::stdout().write_all(text.as_bytes())
}
