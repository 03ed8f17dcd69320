//! `task_plan.md`: what is to be done.
