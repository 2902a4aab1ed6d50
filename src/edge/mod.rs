//! What every edge reads from a request before anything else. It lies below the edges and knows none of them.

mod caller;
mod patience;
mod repeat;

pub use caller::{CallerFault, HeaderFault, decoded, read_caller};
pub use patience::Patience;
pub use repeat::{IDEMPOTENCY_KEY, KeyFault, parse_key, repeat};
