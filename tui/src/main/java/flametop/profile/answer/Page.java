package flametop.profile.answer;

/** What a view shows beside the snapshot. Immutable. */
public interface Page {}
