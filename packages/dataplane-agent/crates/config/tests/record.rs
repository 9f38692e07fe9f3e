//! Packed records.

use tollway_config::protocol::record::{TokenBucketPart, TokenBucketRecord, layouts};

#[test]
fn fields_stand_where_the_layout_says() {
    let way = |first: u32| TokenBucketPart {
        passed: first,
        dropped: 2,
        waiting: 3,
        tokens: -4,
        longest_wait: 5,
        rate_kbit: 6,
    };
    let mut bytes = Vec::new();
    TokenBucketRecord { millisecond: 7, upload: way(8), download: way(9) }.write(&mut bytes);
    let layout = TokenBucketRecord::layout();
    assert_eq!((bytes.len(), layout.size), (TokenBucketRecord::SIZE, TokenBucketRecord::SIZE));
    let offsets: Vec<usize> = layout.fields.iter().map(|field| field.offset).collect();
    assert_eq!(offsets, [0, 8, 36]);
    assert_eq!(bytes.get(36..40), Some(9u32.to_le_bytes().as_slice()));
    assert_eq!(bytes.get(48..56), Some((-4i64).to_le_bytes().as_slice()));
}

#[test]
fn sizes_are_those_that_clients_of_this_protocol_know() {
    let sizes: Vec<usize> = layouts().iter().map(|layout| layout.size).collect();
    assert_eq!(sizes, [162, 104, 64, 28, 28, 52, 32]);
}
