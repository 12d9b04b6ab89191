package flametop.profile.answer;

/** The answer that a view shows beside the snapshot. Immutable. */
public interface Page {}
