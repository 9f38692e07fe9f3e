//! Tests that need what the pipeline keeps to itself.

mod sample_stage;
