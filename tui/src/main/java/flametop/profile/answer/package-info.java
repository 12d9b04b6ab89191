/**
 * The questions that the screen asks and the values that answer them: snapshots, slices, pages,
 * queries, shapes. Anybody may hold, compare and hand on these values; nobody can change one. They
 * never know whether a running machine or a file answers.
 */
@NullMarked
package flametop.profile.answer;

import org.jspecify.annotations.NullMarked;
