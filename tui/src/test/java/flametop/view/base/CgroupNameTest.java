package flametop.view.base;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CgroupNameTest {
  private static final String ID = "9a6f01c3d2e4".repeat(6).substring(0, 64);

  private static void forms(String name, String... forms) {
    for (int room = name.length(); room > 0; room--) {
      String best = forms[forms.length - 1];
      for (int i = forms.length - 1; i >= 0; i--) {
        best = forms[i].length() <= room ? forms[i] : best;
      }
      assertEquals(name.length() <= room ? name : best, CgroupName.form(name, room));
    }
  }

  @Test
  void form_units_loseTheirKindAndSlicesWhatTheyAreIn() {
    forms("nginx.service", "nginx");
    forms("kubepods-burstable-pod1f2e_33.slice", "kubepods-burstable-pod1f2e_33", "pod1f2e_33");
    forms("-.slice", "-");
    forms("user-1000.slice", "user-1000", "1000");
    forms("session-3.scope", "session-3");
    forms("a.service.scope", "a.service");
  }

  @Test
  void ofPath_tooLong_isItsLastName() {
    assertEquals("/a.slice/b.service", CgroupName.ofPath("/a.slice/b.service", 18));
    assertEquals("b.service", CgroupName.ofPath("/a.slice/b.service", 17));
    assertEquals("b", CgroupName.ofPath("/a.slice/b.service", 8));
    assertEquals("/", CgroupName.ofPath("/", 1));
  }

  @Test
  void form_containers_areNamedByTwelveDigits() {
    forms("cri-containerd-" + ID + ".scope", "cri-containerd-9a6f01c3d2e4", "9a6f01c3d2e4");
    forms(ID, "9a6f01c3d2e4");
    forms("deadbeef.service", "deadbeef");
  }
}
