package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The names of processes by the programs that they run. */
class ServiceNameTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "java | /usr/bin/java -Xmx2g -cp a.jar:b.jar com.acme.Shop --port 80 | java Shop",
        "java | java -Dx=y -jar /opt/kafka/kafka.jar server.properties | java -jar kafka.jar",
        "java | java --module-path mods -m shop/com.acme.Main | java Main",
        "java | java -Xss512k -cp lib/flametop.jar flametop.cli.Main record | flametop",
        "flametop-symbol | target/flametop/flametop-symbolizer | flametop",
        "java | java @args Shop.java | java Shop.java",
        "java | java -version | java",
        "python3 | python3 web.py --port 80 | python3 web.py",
        "gunicorn | /usr/bin/python3 /usr/bin/gunicorn app:app | python3 gunicorn",
        "python3.13 | python3.13 -u -W ignore /srv/a.py | python3.13 a.py",
        "python3 | python3 -Im http.server 80 | python3 http.server",
        "python3 | python3 -c secret | python3 -c",
        "node | node --inspect svc.js | node svc.js",
        "node | node -r dotenv/config svc.js | node svc.js",
        "node | node -e secret | node -e",
        "ruby | ruby -rbundle app.rb | ruby app.rb",
        "perl | perl -lane secret | perl -lane",
        "php | php artisan queue:work | php artisan",
        "bash | -bash | bash",
        "bash | bash -e build.sh | bash build.sh",
        "bash | bash -xc secret | bash -xc",
        "sh | /bin/sh -o pipefail /x/run.sh | sh run.sh",
        "deno | deno run -A main.ts | deno main.ts",
        "dotnet | dotnet /app/Shop.dll | dotnet Shop.dll",
        "postgres | postgres: shop orders 10.0.0.7(4242) UPDATE waiting | postgres: shop orders",
        "postgres | postgres: 16/main: shop orders [local] idle in transaction | postgres: shop orders",
        "postgres | postgres: 16/main: checkpointer | postgres: checkpointer",
        "postgres | postgres: parallel worker for PID 123 | postgres: parallel worker for",
        "nginx | nginx: worker process | nginx: worker process",
        "nginx | nginx: master process /usr/sbin/nginx -g daemon | nginx: master process",
        "sshd | sshd: root@pts/0 | sshd",
        "php-fpm8.2 | php-fpm: pool www | php-fpm: pool www",
        "cc1 | /usr/libexec/cc1 -O2 a.c | cc1",
        "tricky | : x | tricky",
      })
  void of_commandLine_isTheProgramThatRuns(String comm, String commandLine, String name) {
    assertEquals(name, ServiceName.of(comm, commandLine));
  }

  @Test
  void of_noCommandLine_isTheComm() {
    assertEquals("kworker/0:1", ServiceName.of("kworker/0:1", ""));
    assertEquals("sh", ServiceName.of("sh", "   "));
  }

  @Test
  void of_endlessWords_isShort() {
    String long1 = ServiceName.of("java", "java " + "x".repeat(4_000));
    assertEquals(60, long1.length());
    assertTrue(long1.endsWith("…"));
    String smile = ServiceName.of("java", "java " + "😀".repeat(2_000));
    assertFalse(Character.isHighSurrogate(smile.charAt(smile.length() - 2)));
    assertEquals("java", ServiceName.of("java", "java " + "-x ".repeat(1_300)));
  }

  @Test
  void of_anyText_isANameOfAtMostSixtyCharacters() {
    Random random = new Random(7);
    String[] parts = {
      "java",
      "python3",
      "-",
      "--",
      "-m",
      "-jar",
      ":",
      " ",
      "  ",
      "/",
      ".",
      "postgres:",
      "[local]",
      "(",
      "-c",
      "-cp",
      "node",
      "\u0301",
      "x"
    };
    for (int i = 0; i < 100_000; i++) {
      StringBuilder line = new StringBuilder();
      for (int n = random.nextInt(12); n > 0; n--) {
        line.append(parts[random.nextInt(parts.length)]);
        line.append(random.nextBoolean() ? " " : "");
      }
      String name = ServiceName.of("comm", line.toString());
      assertTrue(!name.isEmpty() && name.length() <= 60, line::toString);
    }
  }
}
