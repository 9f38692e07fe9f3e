//! A digest of a configuration that the API and the agent compute alike: what is in force is what is wanted when both
//! have the same.
//!
//! A *row* is a member of a list of the configuration, or a single menu. Its hash is the first half of the SHA-256 of
//! its JSON, with the members of objects in the order of their names and without those that are `null`, `false` or
//! `[]`, so that what is written and what is left out are the same.
//!
//! The hash of a *section*, which is a list, is made modulo 2^128 of what each row brings: its own hash, and one of its
//! link to the row before it. So it says what rows there are and in which order, and one row that is inserted or
//! removed changes it by what [`insertion`] says, whatever the length of the list.
//!
//! The digest is the first half of the SHA-256 of lines `name hash`, one for each section; the same is written in
//! TypeScript in `apps/api/src/compiler/digest.ts`.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::dataplane::DataplaneConfig;

/// Hash of a row or of a section.
pub type Hash = u128;

/// Stands before the first and after the last row of a section.
pub const END: Hash = 0;

/// Odd, so that nothing is lost.
const BEFORE: Hash = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
const AFTER: Hash = 0xc2b2_ae3d_27d4_eb4f_1656_67b1_9e37_79f9;

/// Hash of a row.
pub fn row_hash<T: Serialize>(row: &T) -> Hash {
    let mut text = String::new();
    // Every type of a configuration can be written as JSON.
    write(&serde_json::to_value(row).unwrap_or_default(), &mut text);
    half(&Sha256::digest(text))
}

/// The change of a section's hash when a row is inserted between two others.
pub fn insertion(before: Hash, row: Hash, after: Hash) -> Hash {
    row.wrapping_add(link(before, row)).wrapping_add(link(row, after)).wrapping_sub(link(before, after))
}

/// The square makes it another one the other way round.
fn link(before: Hash, after: Hash) -> Hash {
    let before = before.wrapping_add(BEFORE);
    before.wrapping_mul(before).wrapping_mul(after.wrapping_add(AFTER))
}

/// Hash of a section that consists of these rows.
pub fn section_hash(rows: &[Hash]) -> Hash {
    let mut last = END;
    let mut sum: Hash = 0;
    for &row in rows {
        sum = sum.wrapping_add(insertion(last, row, END));
        last = row;
    }
    sum
}

fn half(digest: &[u8]) -> Hash {
    digest.first_chunk().map_or(0, |bytes| Hash::from_be_bytes(*bytes))
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut said: Vec<(&String, &Value)> = members.iter().filter(|(_, value)| says(value)).collect();
            said.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (at, (name, item)) in said.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                text.push('"');
                text.push_str(name);
                text.push_str("\":");
                write(item, text);
            }
            text.push('}');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

fn says(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
        && value.as_array().is_none_or(|items| !items.is_empty())
}

/// Hashes of a configuration, from which those of the next one are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Digest {
    sections: Vec<(String, Vec<Hash>)>,
    text: String,
}

impl Digest {
    /// Hashes a configuration. What is as in `before` is not hashed again.
    pub fn of(config: &DataplaneConfig, before: Option<(&DataplaneConfig, &Self)>) -> Self {
        let DataplaneConfig {
            format,
            settings,
            tracking,
            interfaces,
            addresses,
            routes,
            routing_tables,
            routing_rules,
            neighbors,
            address_lists,
            filter,
            nat,
            mangle,
            ipv6_address_lists,
            ipv6_filter,
            ipv6_nat,
            ipv6_mangle,
            mark_names,
            queue_types,
            simple_queues,
            tree_queues,
            interface_queues,
        } = config;
        let old = before.map(|(config, _)| config);
        let mut made = Making { known: before.map(|(_, digest)| digest), sections: Vec::new() };
        made.section("format", std::slice::from_ref(format), None);
        made.section("settings", std::slice::from_ref(settings), None);
        made.section("tracking", std::slice::from_ref(tracking), None);
        made.section("interfaces", interfaces, old.map(|old| &*old.interfaces));
        made.section("addresses", addresses, old.map(|old| &*old.addresses));
        made.section("routes", routes, old.map(|old| &*old.routes));
        made.section("routing-tables", routing_tables, old.map(|old| &*old.routing_tables));
        made.section("routing-rules", routing_rules, old.map(|old| &*old.routing_rules));
        made.section("neighbors", neighbors, old.map(|old| &*old.neighbors));
        let lists = [
            ("address-lists", address_lists, old.map(|old| &old.address_lists)),
            ("ipv6-address-lists", ipv6_address_lists, old.map(|old| &old.ipv6_address_lists)),
        ];
        for (name, lists, old) in lists {
            for list in lists {
                let old = old.and_then(|old| old.iter().find(|known| known.name == list.name));
                let old = old.map(|list| &*list.entries);
                made.section(&format!("{name} {}", list.name), &list.entries, old);
            }
        }
        let tables = [
            ("filter", filter, old.map(|old| &old.filter)),
            ("nat", nat, old.map(|old| &old.nat)),
            ("mangle", mangle, old.map(|old| &old.mangle)),
            ("ipv6-filter", ipv6_filter, old.map(|old| &old.ipv6_filter)),
            ("ipv6-nat", ipv6_nat, old.map(|old| &old.ipv6_nat)),
            ("ipv6-mangle", ipv6_mangle, old.map(|old| &old.ipv6_mangle)),
        ];
        for (name, chains, old) in tables {
            for chain in chains {
                let old = old.and_then(|old| old.iter().find(|known| known.name == chain.name));
                made.section(&format!("{name} {}", chain.name), &chain.rules, old.map(|chain| &*chain.rules));
            }
        }
        made.section("mark-names", mark_names, old.map(|old| &*old.mark_names));
        made.section("queue-types", queue_types, old.map(|old| &*old.queue_types));
        made.section("simple-queues", simple_queues, old.map(|old| &*old.simple_queues));
        made.section("tree-queues", tree_queues, old.map(|old| &*old.tree_queues));
        made.section("interface-queues", interface_queues, old.map(|old| &*old.interface_queues));
        let mut lines = Sha256::new();
        for (name, rows) in &made.sections {
            lines.update(format!("{name} {:032x}\n", section_hash(rows)));
        }
        let text = format!("{:032x}", half(&lines.finalize()));
        Self { sections: made.sections, text }
    }

    /// 32 hexadecimal digits.
    pub fn text(&self) -> &str {
        &self.text
    }
}

struct Making<'a> {
    known: Option<&'a Digest>,
    sections: Vec<(String, Vec<Hash>)>,
}

impl Making<'_> {
    /// Adds a section. Its rows at the front and at the end that are as before keep their hashes.
    fn section<T: Serialize + PartialEq>(&mut self, name: &str, rows: &[T], old: Option<&[T]>) {
        let place = self.sections.len();
        let hashes = self.known.and_then(|known| {
            // Sections rarely come or go.
            let here = known.sections.get(place).filter(|(known, _)| known == name);
            here.or_else(|| known.sections.iter().find(|(known, _)| known == name))
        });
        let (old, hashes) = match (old, hashes) {
            (Some(old), Some((_, hashes))) if old.len() == hashes.len() => (old, hashes.as_slice()),
            _ => (&[][..], &[][..]),
        };
        let front = rows.iter().zip(old).take_while(|(new, old)| new == old).count();
        let most = rows.len().min(old.len()) - front;
        let back =
            rows.iter().rev().zip(old.iter().rev()).take(most).take_while(|(new, old)| new == old).count();
        let mut made = Vec::with_capacity(rows.len());
        made.extend_from_slice(hashes.get(..front).unwrap_or_default());
        made.extend(rows.get(front..rows.len() - back).unwrap_or_default().iter().map(row_hash));
        made.extend_from_slice(hashes.get(hashes.len() - back..).unwrap_or_default());
        self.sections.push((name.to_owned(), made));
    }
}
