package flametop.profile;

/** Asks for a {@link Page}; two that are equal ask for the same. */
public interface PageQuery {}
