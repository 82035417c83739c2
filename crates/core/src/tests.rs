//! Facts about the shared words, one thread at a time. What several threads do is in the model.

mod astack_list;
mod bell;
mod bias;
mod claim;
mod progress;
mod room;
mod tally;
mod turn;
