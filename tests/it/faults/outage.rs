//! outage
