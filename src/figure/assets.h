/* SPDX-License-Identifier: MIT
 *
 * Style, script and patterns of the page, built into the binary from src/figure/assets by
 * src/figure/embed.sh: NAME.css is asset_NAME_css.
 */
#ifndef FIGURE_ASSETS_H
#define FIGURE_ASSETS_H

extern const char asset_palette_light_css[]; /* custom properties, without a selector */
extern const char asset_palette_dark_css[];
extern const char asset_figure_css[]; /* what is inside an SVG */
extern const char asset_page_css[];
extern const char asset_patterns_svg[]; /* <defs> that figures refer to */
extern const char asset_script_js[];    /* all scripts, in the order of their names */

#endif
