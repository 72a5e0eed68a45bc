// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// k9sPlugin is a shortcut as k9s documents it.
type k9sPlugin struct {
	ShortCut    string   `json:"shortCut"`
	Description string   `json:"description"`
	Scopes      []string `json:"scopes"`
	Command     string   `json:"command"`
	Args        []string `json:"args"`
	Background  bool     `json:"background"`
	Confirm     bool     `json:"confirm"`
	Dangerous   bool     `json:"dangerous"`
}

var (
	shortCut = regexp.MustCompile(`^([a-z]|Shift-[A-Z]|Ctrl-[A-Z])$`)
	// k9sKeys are those that k9s itself has in a table of objects. The letters G, H, J, K and L move in it, without Shift, but for G.
	k9sKeys = []string{
		"c", "d", "e", "g", "h", "j", "k", "l", "n", "q", "s", "w", "y", "Shift-A", "Shift-G", "Shift-J", "Shift-N", "Shift-O", "Shift-P", "Shift-S",
		"Ctrl-A", "Ctrl-B", "Ctrl-C", "Ctrl-D", "Ctrl-E", "Ctrl-F", "Ctrl-G", "Ctrl-R", "Ctrl-S", "Ctrl-U", "Ctrl-W", "Ctrl-Z",
	}
	subcommand = regexp.MustCompile(`kubectl modelbox ([a-z]+) `)
	longFlag   = regexp.MustCompile(` --([a-z-]+)`)
	use        = regexp.MustCompile(`Use(?::| =)\s+"([a-z-]+)`)
	column     = regexp.MustCompile(`\{Name: "([^"]+)", Type`)
)

func TestK9sPlugins(t *testing.T) {
	var file struct {
		Plugins map[string]k9sPlugin `json:"plugins"`
	}
	parseK9s(t, "plugins.yaml", &file)
	if len(file.Plugins) == 0 {
		t.Fatal("there are no plugins")
	}
	sources := sourcesOfCommands(t)
	// The commands that change an object. A session that is read-only does not have those that are dangerous.
	changing := []string{"restart", "rollback", "pause", "resume"}
	keys := map[string]string{}
	for name, plugin := range file.Plugins {
		if !shortCut.MatchString(plugin.ShortCut) {
			t.Errorf("%s: %q is no shortcut", name, plugin.ShortCut)
		}
		if slices.Contains(k9sKeys, plugin.ShortCut) {
			t.Errorf("%s: k9s itself has the shortcut %s", name, plugin.ShortCut)
		}
		if other, taken := keys[plugin.ShortCut]; taken {
			t.Errorf("%s and %s have the shortcut %s", name, other, plugin.ShortCut)
		}
		keys[plugin.ShortCut] = name

		line := strings.Join(append([]string{plugin.Command}, plugin.Args...), " ")
		matched := subcommand.FindStringSubmatch(line)
		if matched == nil {
			t.Errorf("%s runs %q", name, line)
			continue
		}
		command := matched[1]
		if name != "modelbox-"+command {
			t.Errorf("%s runs kubectl modelbox %s", name, command)
		}
		source, exists := sources[command]
		if !exists {
			t.Errorf("%s: kubectl modelbox has no command %s", name, command)
		}
		for _, flag := range longFlag.FindAllStringSubmatch(line, -1) {
			if !slices.Contains([]string{"namespace", "context"}, flag[1]) && !strings.Contains(source, `"`+flag[1]+`"`) {
				t.Errorf("%s: kubectl modelbox %s has no flag --%s", name, command, flag[1])
			}
		}
		for _, variable := range []string{"$RESOURCE_NAME/$NAME", "$NAMESPACE", "$CONTEXT"} {
			if !strings.Contains(line, variable) {
				t.Errorf("%s lacks %s", name, variable)
			}
		}
		if changes := slices.Contains(changing, command); plugin.Confirm != changes || plugin.Dangerous != changes {
			t.Errorf("%s: confirm is %t, dangerous is %t, and it changes an object: %t", name, plugin.Confirm, plugin.Dangerous, changes)
		}
		for _, scope := range plugin.Scopes {
			if scope != "modelboxes" && scope != "modelstacks" {
				t.Errorf("%s is for %s", name, scope)
			}
		}
	}
}

func TestK9sAliases(t *testing.T) {
	var file struct {
		Aliases map[string]string `json:"aliases"`
	}
	parseK9s(t, "aliases.yaml", &file)
	for alias, folder := range map[string]string{"mb": "modelbox", "mst": "modelstack"} {
		if !strings.HasPrefix(file.Aliases[alias], "model.github.com/v1/"+folder) {
			t.Errorf("alias %s is %q", alias, file.Aliases[alias])
		}
		// The API has the same short name.
		if storage := readFile(t, repository+"/pkg/registry/model/"+folder+"/storage/storage.go"); !strings.Contains(string(storage), `ShortName: "`+alias+`"`) {
			t.Errorf("%s has no short name %s", folder, alias)
		}
	}
}

func TestK9sViewsHaveColumnsOfTheServer(t *testing.T) {
	var file struct {
		Views map[string]struct {
			Columns    []string `json:"columns"`
			SortColumn string   `json:"sortColumn"`
		} `json:"views"`
	}
	parseK9s(t, "views.yaml", &file)
	for view, folder := range map[string]string{"model.github.com/v1/modelboxes": "modelbox", "model.github.com/v1/modelstacks": "modelstack"} {
		served := []string{"NAMESPACE"}
		for _, match := range column.FindAllStringSubmatch(string(readFile(t, repository+"/pkg/registry/model/"+folder+"/printer.go")), -1) {
			served = append(served, strings.ToUpper(match[1]))
		}
		if len(file.Views[view].Columns) == 0 {
			t.Errorf("%s has no columns", view)
		}
		for _, column := range file.Views[view].Columns {
			if name, _, _ := strings.Cut(column, "|"); !slices.Contains(served, name) {
				t.Errorf("%s: the server has no column %s", view, name)
			}
		}
	}
}

func parseK9s(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(readFile(t, artifacts+"/k9s/"+name), into); err != nil {
		t.Fatal(err)
	}
}

// sourcesOfCommands returns the source of each command of the plugin of kubectl, by its name.
func sourcesOfCommands(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(repository + "/pkg/cli/*/command.go")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]string{}
	for _, file := range files {
		source := string(readFile(t, file))
		for _, match := range use.FindAllStringSubmatch(source, -1) {
			sources[match[1]] = source
		}
	}
	return sources
}
