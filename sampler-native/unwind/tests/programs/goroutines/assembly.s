// A package with assembly may have functions without a body: systemstack of the runtime.
