//! Every order in which the threads of a few small scenes can meet, tried by loom: see `tests/`.
