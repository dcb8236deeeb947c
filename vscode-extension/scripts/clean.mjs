// Removes what the other scripts build.
import { rmSync } from "node:fs";

for (const path of ["dist", "bundled/libs"]) {
  rmSync(new URL(`../${path}`, import.meta.url), { recursive: true, force: true });
}
