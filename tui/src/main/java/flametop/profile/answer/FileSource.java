package flametop.profile.answer;

/** A source of pictures of one file at a time. */
public interface FileSource extends SnapshotSource {
  /** Goes on by so many files, back if below 0; where there is one, it stays. */
  void turn(int by);

  /** Reads the file anew and shows this type of values; empty: what the file prefers. */
  void sampleType(String name);
}
