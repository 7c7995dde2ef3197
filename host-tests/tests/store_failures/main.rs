//! Faults of real servers under load: restarts, kills, cut connections, a full disk. Nothing is
//! claimed twice, no recorded outcome is lost, and the service is back within 5 s.

mod check;
mod cut;
mod explained;
mod full_disk;
mod load;
mod restarts;
