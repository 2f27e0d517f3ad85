import DefaultTheme from "vitepress/theme";
import { useData, type Theme } from "vitepress";
import { nextTick, onMounted, watch } from "vue";
import "./style.css";

/** The default theme, whose home page lacks the landmark that every other page has. */
const theme: Theme = {
  extends: DefaultTheme,
  setup() {
    const { frontmatter } = useData();
    const mark = async (): Promise<void> => {
      await nextTick();
      const content = document.querySelector("#VPContent");
      if (frontmatter.value.layout === "home") content?.setAttribute("role", "main");
      else content?.removeAttribute("role");
    };
    onMounted(mark);
    watch(frontmatter, mark);
  },
};

export default theme;
