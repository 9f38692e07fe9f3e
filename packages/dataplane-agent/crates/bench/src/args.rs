//! Command-line options: `--name value` pairs.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The options of one command.
pub struct Args(BTreeMap<String, String>);

impl Args {
    /// Reads pairs; a word that is no option, or an option without value, is an error.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = BTreeMap::new();
        while let Some(word) = words.next() {
            let name = word.strip_prefix("--").ok_or_else(|| format!("unexpected \"{word}\""))?;
            let value = words.next().ok_or_else(|| format!("--{name} needs a value"))?;
            options.insert(name.to_owned(), value);
        }
        Ok(Self(options))
    }

    /// An option that must be given.
    pub fn required<T: FromStr>(&self, name: &str) -> Result<T, String> {
        self.optional(name)?.ok_or_else(|| format!("--{name} is missing"))
    }

    /// An option that may be left out.
    pub fn optional<T: FromStr>(&self, name: &str) -> Result<Option<T>, String> {
        match self.0.get(name) {
            None => Ok(None),
            Some(text) => text.parse().map(Some).map_err(|_| format!("--{name} does not accept \"{text}\"")),
        }
    }

    /// A link-layer address, `aa:bb:cc:dd:ee:ff`.
    pub fn mac(&self, name: &str) -> Result<[u8; 6], String> {
        let text: String = self.required(name)?;
        parse_mac(&text).ok_or_else(|| format!("--{name} wants aa:bb:cc:dd:ee:ff, not \"{text}\""))
    }
}

/// Reads `aa:bb:cc:dd:ee:ff`.
pub fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let mut mac = [0; 6];
    let mut octets = text.split(':');
    for byte in &mut mac {
        *byte = u8::from_str_radix(octets.next()?, 16).ok()?;
    }
    octets.next().is_none().then_some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Args, String> {
        Args::parse(words.iter().map(|&word| word.to_owned()))
    }

    #[test]
    fn reads_pairs_and_refuses_the_rest() {
        let args = parse(&["--rate", "100", "--lan-mac", "02:00:00:00:00:0a"]).unwrap();
        assert_eq!(args.required::<u32>("rate"), Ok(100));
        assert_eq!(args.optional::<u32>("flows"), Ok(None));
        assert_eq!(args.mac("lan-mac"), Ok([2, 0, 0, 0, 0, 10]));
        assert!(args.required::<u32>("lan-mac").is_err());
        assert!(parse(&["rate"]).is_err());
        assert!(parse(&["--rate"]).is_err());
    }

    #[test]
    fn refuses_addresses_that_are_too_short_or_too_long() {
        assert_eq!(parse_mac("02:00:00:00:00"), None);
        assert_eq!(parse_mac("02:00:00:00:00:00:00"), None);
        assert_eq!(parse_mac("02:00:00:00:00:xx"), None);
    }
}
