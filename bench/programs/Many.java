// SPDX-License-Identifier: Apache-2.0
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** Compiles, by javac in this JVM, classes with 20,000 methods into a folder, runs each, says "ready" and sleeps: with -Xcomp all of it is compiled. */
class Many {
  static final int CLASSES = 200;
  static final int METHODS = 100;

  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createDirectories(Paths.get(arguments[0]));
    List<String> files = new ArrayList<>();
    for (int i = 0; i < CLASSES; i++) {
      StringBuilder text = new StringBuilder("public class Many" + i + " implements Runnable { int n; java.util.HashMap<Integer, String> m = new java.util.HashMap<>();\n");
      StringBuilder run = new StringBuilder("public void run() {\n");
      for (int j = 0; j < METHODS; j++) {
        text.append("int handler" + j + "(String s, int k) { StringBuilder b = new StringBuilder(s); for (int i = 0; i < k; i++) b.append(i + " + j
            + "); m.put(k + " + j + ", b.toString()); String v = m.get(k); return v == null ? n : v.length() + Math.max(n, k); }\n");
        run.append("n += handler" + j + "(\"a\", 2);\n");
      }
      Path file = folder.resolve("Many" + i + ".java");
      Files.write(file, Arrays.asList(text + run.toString() + "}\n}"));
      files.add(file.toString());
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> words = new ArrayList<>(Arrays.asList("-d", folder.toString(), "-nowarn"));
    words.addAll(files);
    if (compiler.run(null, null, null, words.toArray(new String[0])) != 0) {
      throw new AssertionError("javac");
    }
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
      for (int i = 0; i < CLASSES; i++) {
        ((Runnable) loader.loadClass("Many" + i).getDeclaredConstructor().newInstance()).run();
      }
      System.out.println("ready");
      Thread.sleep(1_000_000);
    }
  }
}
