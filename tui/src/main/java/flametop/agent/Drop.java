package flametop.agent;

import java.util.Locale;

/** Why a profile was given up. */
enum Drop {
  /** The store answered that it does not take it. */
  REFUSED,
  /** The spool had no room, and it was the oldest. */
  SPOOL_FULL,
  /** The spool could not be written. */
  NOT_WRITTEN,
  /** Larger than the whole spool. */
  TOO_LARGE,
  /** Not in the spool as it was written. */
  DAMAGED,
  /** Made for another kind of store than there is now. */
  OTHER_STORE,
  /** The agent ended, and there is no spool on disk. */
  ENDED;

  /** As metrics name it. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
