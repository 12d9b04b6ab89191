package flametop.agent;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;

/**
 * The secret that a store asks for. A token with a colon is a user and a password ({@code Basic}),
 * another one a bearer's. It has no text of its own, so that none is logged by mistake.
 */
public final class Token {
  private static final int MOST_BYTES = 8_192;

  private final String header;

  private Token(String header) {
    this.header = header;
  }

  /**
   * @throws IOException with a line for people, which has no part of the token
   */
  public static Token of(String text) throws IOException {
    String token = text.strip();
    if (token.isEmpty()) {
      throw new IOException("the token is empty");
    }
    if (token.length() > MOST_BYTES || !token.chars().allMatch(c -> c > ' ' && c < 0x7F)) {
      throw new IOException("the token is not one word of ASCII of at most 8192 characters");
    }
    return new Token(
        token.indexOf(':') >= 0
            ? "Basic "
                + Base64.getEncoder().encodeToString(token.getBytes(StandardCharsets.US_ASCII))
            : "Bearer " + token);
  }

  /**
   * @throws IOException with a line for people, which has no part of the token
   */
  public static Token read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return of(new String(in.readNBytes(MOST_BYTES + 2), StandardCharsets.ISO_8859_1));
    }
  }

  /** The value of the header {@code Authorization}. */
  String header() {
    return header;
  }

  @Override
  public String toString() {
    return "[token]";
  }
}
