package flametop.agent;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** Whose certificates are believed: those of the system, which a bundle has no copy of. */
public final class Trust {
  /** Where distributions keep the roots that all programs believe, in PEM. */
  private static final List<Path> SYSTEM =
      List.of(
          Path.of("/etc/ssl/certs/ca-certificates.crt"),
          Path.of("/etc/pki/tls/certs/ca-bundle.crt"),
          Path.of("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"),
          Path.of("/etc/ssl/ca-bundle.pem"),
          Path.of("/etc/ssl/cert.pem"));

  private Trust() {}

  /**
   * The context of connections.
   *
   * @param given the only certificates that are believed, in PEM; null: those of the system
   * @throws IOException with a line for people
   */
  public static SSLContext context(@Nullable Path given) throws IOException {
    Path file = given;
    for (Path path : SYSTEM) {
      file = file == null && Files.isReadable(path) ? path : file;
    }
    if (file == null) {
      throw new IOException(
          "this system has no certificates to believe; install ca-certificates, or give --ca FILE");
    }
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file))) {
      Collection<? extends Certificate> all =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (all.isEmpty()) {
        throw new IOException(file + " has no certificate in PEM");
      }
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      int number = 0;
      for (Certificate certificate : all) {
        store.setCertificateEntry(Integer.toString(number++), certificate);
      }
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException(file + " is no file of certificates in PEM", e);
    }
  }
}
