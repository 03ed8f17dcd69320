//! Changing a person's files: under a lock, durable, archive before trim.
