package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Measure;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** {@link SvgWriter}: the picture is read back as XML. */
class SvgWriterTest {
  private record Box(String title, double x, double width, int y) {}

  private static List<Box> boxes(StackExport export) throws Exception {
    NodeList groups = document(export).getElementsByTagName("g");
    List<Box> all = new ArrayList<>();
    for (int i = 0; i < groups.getLength(); i++) {
      Element group = (Element) groups.item(i);
      Element rect = (Element) group.getElementsByTagName("rect").item(0);
      all.add(
          new Box(
              group.getElementsByTagName("title").item(0).getTextContent(),
              Double.parseDouble(rect.getAttribute("x")),
              Double.parseDouble(rect.getAttribute("width")),
              Integer.parseInt(rect.getAttribute("y"))));
    }
    return all;
  }

  private static Document document(StackExport export) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(Exports.bytes(StackFormat.SVG, export)));
  }

  @Test
  void write_stacksWithACommonFrame_oneBoxAsWideAsBoth() throws Exception {
    StackExport export =
        Exports.of(
            Measure.SAMPLES,
            Exports.stack(1, "a", "f", "g_[k]"),
            Exports.stack(2, "a", "f", "h"),
            Exports.stack(5, "b", "f"));
    Map<String, Box> named = new HashMap<>();
    for (Box box : boxes(export)) {
      named.put(box.title().replaceAll(" \\[[^]]*]", ""), box);
    }
    Box all = named.get("all, 8 samples, 100.00 %");
    assertEquals(0, all.x());
    assertEquals(all.width() / 8, named.get("g, 1 samples, 12.50 %").width(), 0.01);
    assertEquals(all.width() / 8, named.get("h, 2 samples, 25.00 %").x(), 0.01);
    Box common = named.get("f, 3 samples, 37.50 %");
    assertEquals(3 * all.width() / 8, common.width(), 0.01);
    Box other = named.get("f, 5 samples, 62.50 %");
    assertEquals(common.width(), other.x(), 0.01);
    assertTrue(all.y() < named.get("a, 3 samples, 37.50 %").y());
    assertEquals(common.y(), other.y());
    assertEquals(7, named.size());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void write_hostileNames_areTextInOnePicture(long seed) throws Exception {
    Document picture = document(Exports.hostile(seed));
    NodeList all = picture.getElementsByTagName("*");
    for (int i = 0; i < all.getLength(); i++) {
      Element element = (Element) all.item(i);
      assertTrue(
          List.of("svg", "title", "desc", "style", "rect", "text", "g")
              .contains(element.getTagName()),
          element.getTagName());
      for (int j = 0; j < element.getAttributes().getLength(); j++) {
        assertTrue(!element.getAttributes().item(j).getNodeName().startsWith("on"));
      }
    }
  }
}
