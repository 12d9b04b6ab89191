package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page as a browser shows it, by mouse and keys, from a file. */
@Timeout(600)
class HtmlBrowserTest {
  private static final int LEVEL = 19;

  @TempDir private Path folder;

  private Browser browser;

  @BeforeEach
  void open() throws Exception {
    assumeTrue(Browser.program() != null, "no chromium is installed");
    browser = Browser.open(folder.resolve("browser"));
  }

  @AfterEach
  void close() {
    if (browser != null) {
      browser.close();
    }
  }

  private void show(StackExport export) throws Exception {
    Path page = Files.write(folder.resolve("out.html"), Exports.bytes(StackFormat.HTML, export));
    browser.go(page.toUri());
    browser.await("document.getElementById('selected').textContent !== ''");
  }

  private String text(String id) throws Exception {
    return browser.evaluate("document.getElementById('" + id + "').textContent");
  }

  /** Clicks on a level of the graph, at a share of its width. */
  private void click(int level, double share) throws Exception {
    String bounds = "document.getElementById('graph').getBoundingClientRect()";
    double width = Double.parseDouble(browser.evaluate(bounds + ".width"));
    double top = Double.parseDouble(browser.evaluate(bounds + ".top"));
    browser.click((int) (width * share), (int) top + level * LEVEL + LEVEL / 2);
  }

  private static StackExport server() {
    return Exports.of(
        Measure.TIME,
        Exports.stack(250_000_000, "app", "main", "read", "vfs_read_[k]"),
        Exports.stack(500_000_000, "app", "main", "work"),
        Exports.stack(250_000_000, "db", NodeKind.PROCESS, "scan", NodeKind.JIT));
  }

  @Test
  void page_fromAFile_showsTheTotalAndWhereItComesFrom() throws Exception {
    show(server());
    assertTrue(text("selected").startsWith("all · 1.000 s, 100 % of all"), text("selected"));
    assertTrue(text("selected").contains("run 1.000 s"), text("selected"));
    assertTrue(text("facts").contains("Linux 6.18.1 x86_64"), text("facts"));
    assertTrue(text("title").startsWith("flametop · web-1 · pid 12"), text("title"));
    assertTrue(
        Integer.parseInt(
                browser.evaluate(
                    "new Set(document.getElementById('graph').getContext('2d')"
                        + ".getImageData(0, 0, 800, 80).data).size"))
            > 10,
        "something is drawn");
  }

  @Test
  void click_frame_zoomsAndEscapeGoesBack() throws Exception {
    show(server());
    click(2, 0.5);
    assertTrue(
        text("selected").startsWith("main  [libUSER] · 750.000 ms, 75.00 % of all, 100 % of main"),
        text("selected"));
    // The frame fills the width: its last third is work.
    click(3, 0.9);
    assertTrue(text("selected").startsWith("work  "), text("selected"));
    browser.press("Escape");
    assertTrue(text("selected").startsWith("main  "), text("selected"));
    browser.press("0");
    assertTrue(text("selected").startsWith("all · "), text("selected"));
    browser.press("i");
    assertEquals("icicle", text("flip"));
  }

  @Test
  void search_expression_sharesOfTheZoomed() throws Exception {
    show(server());
    browser.press("/");
    browser.type("read$");
    assertEquals("matched 25.00 %", text("matched"));
    click(2, 0.5);
    assertEquals("matched 33.33 %", text("matched"));
    browser.evaluate("document.getElementById('search').focus()");
    browser.type("(");
    assertEquals("no regular expression", text("matched"));
  }

  @Test
  void pointer_onAFrame_tellsOfIt() throws Exception {
    show(server());
    browser.await("document.getElementById('tip').hidden");
    String bounds = "document.getElementById('graph').getBoundingClientRect()";
    double top = Double.parseDouble(browser.evaluate(bounds + ".top"));
    browser.move(100, (int) top + 4 * LEVEL + 5);
    browser.await("!document.getElementById('tip').hidden");
    assertTrue(text("tip").startsWith("vfs_read  [libKERNEL]  kernel\n250.000 ms"), text("tip"));
  }

  @Test
  void page_hostileNames_runNothingAndLoadNothing() throws Exception {
    for (long seed = 1; seed <= 3; seed++) {
      StackExport export = Exports.hostile(seed);
      show(export);
      assertTrue(browser.evaluate("document.title").startsWith("flametop · "));
      assertEquals("0", browser.evaluate("document.querySelectorAll('img').length"));
      assertEquals("2", browser.evaluate("document.scripts.length"));
      assertEquals("0", browser.evaluate("performance.getEntriesByType('resource').length"));
      assertTrue(
          text("selected")
              .startsWith(
                  "all · " + String.format("%.3f s", export.total() / 1e6).replace(",", ".")),
          text("selected"));
      for (int level = 0; level < 5; level++) {
        click(level, 0.4);
      }
      browser.press("0");
      browser.evaluate("document.getElementById('search').value = ''");
      browser.press("/");
      browser.type("script");
      assertTrue(text("matched").startsWith("matched "), text("matched"));
      assertTrue(browser.evaluate("document.title").startsWith("flametop · "));
    }
  }

  @Test
  void page_manyNodes_zoomsAndSearches() throws Exception {
    List<FoldedStack> stacks = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      String[] names = {
        String.format("f%03d", i / 1_000),
        String.format("g%03d", i / 10 % 100),
        String.format("h%06d", i)
      };
      stacks.add(Exports.stack(10_000_000, "app", names));
    }
    show(StackExport.of(Exports.provenance("web-1"), Measure.TIME, stacks));
    assertTrue(text("selected").startsWith("all · 1000.000 s"), text("selected"));
    browser.press("/");
    browser.type("^h0000");
    assertEquals("matched 0.10 %", text("matched"));
    click(2, 0.001);
    assertTrue(text("selected").startsWith("f000  "), text("selected"));
    assertEquals("matched 10.00 %", text("matched"));
    click(3, 0.5);
    assertTrue(text("selected").startsWith("g050  "), text("selected"));
    click(4, 0.05);
    assertTrue(text("selected").startsWith("h000500  "), text("selected"));
  }
}
