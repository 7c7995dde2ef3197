//! What the standard library would bring: an allocator, and what a panic does. Without it
//! the component is a third smaller, and the same with every toolchain.

#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();

/// The lints leave no panic of our own; one in a dependency is a trap, which the host turns
/// into an error.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
