//! X

pub mod checks;
pub mod evidence;
pub mod skill;
pub mod task_gate;
pub mod verify_stop;
pub mod words;
pub mod work;
