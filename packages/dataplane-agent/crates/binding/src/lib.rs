//! The agent for Node: converts, calls, converts back. No logic.

use std::path::PathBuf;

use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;
use tollway_io::huge_pages::HugePages;
use tollway_worker::{AgentError, Options, Stop};

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// How to run the agent.
#[napi(object)]
pub struct BindingOptions {
    /// Unix socket to serve the API on.
    pub socket: String,
    /// Directory of the agent's state.
    pub data_dir: String,
    /// Name of the router's network namespace.
    pub netns_name: String,
    /// Netdevs to claim, in order.
    pub ports: Vec<String>,
    /// Memory ports with generated traffic instead of netdevs.
    pub memory: bool,
    /// Claim netdevs that carry the default route or the caller's SSH session.
    pub take_over: bool,
    /// Worker threads.
    pub workers: Option<u32>,
}

impl From<BindingOptions> for Options {
    fn from(options: BindingOptions) -> Self {
        Self {
            socket: PathBuf::from(options.socket),
            data_dir: PathBuf::from(options.data_dir),
            netns_name: options.netns_name,
            ports: options.ports,
            memory: options.memory,
            take_over: options.take_over,
            workers: options.workers.map(|workers| workers as usize),
        }
    }
}

/// A run of the agent, on a thread of Node's pool.
pub struct Run {
    options: Options,
    stop: Stop,
}

impl Task for Run {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> Result<()> {
        tollway_worker::run(&self.options, &self.stop).map_err(|error| to_node(&error))
    }

    fn resolve(&mut self, _env: Env, (): ()) -> Result<()> {
        Ok(())
    }
}

fn to_node(error: &AgentError) -> Error {
    let status = match error {
        AgentError::Usage(_) => Status::InvalidArg,
        AgentError::Failed(_) => Status::GenericFailure,
    };
    Error::new(status, error.to_string())
}

/// An agent that has not been started, runs or has ended.
#[napi]
pub struct Agent {
    stop: Stop,
}

#[napi]
impl Agent {
    /// An agent that can be run once.
    #[napi(constructor)]
    pub fn new() -> Result<Self> {
        Ok(Self { stop: Stop::new()? })
    }

    /// Whether `run` would claim the ports; touches nothing. Throws what `run` would reject with.
    #[napi]
    pub fn check(&self, options: BindingOptions) -> Result<()> {
        tollway_worker::check(&options.into()).map_err(|error| to_node(&error))
    }

    /// Runs until `stop`. Rejects with code `InvalidArg` for options or ports that cannot be used.
    #[napi]
    pub fn run(&self, options: BindingOptions) -> AsyncTask<Run> {
        AsyncTask::new(Run { options: options.into(), stop: self.stop.clone() })
    }

    /// Ends the run: ports are released, then its promise resolves.
    #[napi]
    pub fn stop(&self) {
        self.stop.stop();
    }
}
