//! The real client against a scripted model: what reaches the model, the user and the disk.

mod scenario;
