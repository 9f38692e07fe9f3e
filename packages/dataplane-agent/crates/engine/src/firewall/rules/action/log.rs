//! `log`.

use super::RuleAction;

/// Writes a log line.
pub(super) struct Log;

impl RuleAction for Log {
    fn logs(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use tollway_config::dataplane::{Action, Rule};

    use super::super::super::TableKind;
    use super::super::super::tests::{chain, compile, rule, run, view};

    #[test]
    fn a_rule_logs_once_by_its_action_its_prefix_or_both() {
        let prefixed = |row, action| Rule { log: Some("x".into()), ..rule(row, vec![], action) };
        let rules = vec![
            rule(1, vec![], Action::Log),
            rule(2, vec![], Action::Passthrough),
            prefixed(3, Action::Passthrough),
            prefixed(4, Action::Log),
        ];
        let table = compile(TableKind::Filter, &[chain("forward", rules)]).unwrap();
        assert_eq!(run(&table, "forward", &view()).logs, [0, 2, 3]);
    }
}
