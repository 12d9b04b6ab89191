package flametop.term;
import flametop.view.Pictures;
import java.nio.file.*;
public class Look { public static void main(String[] a) throws Exception {
  Theme t = Theme.load(Path.of("themes"), a.length > 0 ? a[0] : "dark");
  Files.createDirectories(Path.of("/tmp/look"));
  for (Pictures.Frame f : Pictures.golden()) Files.writeString(Path.of("/tmp/look/" + f.name() + ".svg"), SvgScreenshot.render(f.grid(), t));
}}
