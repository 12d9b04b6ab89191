package flametop.profile;

/** What a view shows beside the snapshot. Immutable. */
public interface Page {}
