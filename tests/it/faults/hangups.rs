//! hangups
