// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// configBox returns a box with a config of each rollout.
func configBox(t *testing.T, changes ...func(*modelv1.ModelBox)) *modelv1.ModelBox {
	t.Helper()
	box := webBox(t)
	for _, rollout := range []modelv1.ConfigRollout{modelv1.ConfigRolloutRestart, modelv1.ConfigRolloutLive, modelv1.ConfigRolloutVersioned} {
		name := map[modelv1.ConfigRollout]string{modelv1.ConfigRolloutLive: "live", modelv1.ConfigRolloutVersioned: "versioned"}[rollout]
		box.Spec.Configs = append(box.Spec.Configs, modelv1.ModelBoxConfig{
			Name: name, MountPath: "/etc/" + name, Rollout: rollout, Data: map[string]string{"file": "old"},
		})
	}
	for _, change := range changes {
		change(box)
	}
	return box
}

// configMapNames returns the names of the ConfigMaps of a box.
func configMapNames(t *testing.T, box *modelv1.ModelBox) []string {
	t.Helper()
	var names []string
	for _, child := range children(t, box) {
		if child.GetKind() == "ConfigMap" {
			names = append(names, child.GetName())
		}
	}
	return names
}

func TestRolloutOfAConfig(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*modelv1.ModelBox)
		// rolls is whether the pods are replaced, names what the ConfigMaps are called then.
		rolls bool
		names []string
	}{
		{"the same data", func(box *modelv1.ModelBox) {
			box.Spec.Configs[1].Data = map[string]string{"file": "old"}
		}, false, []string{"web", "web-live", "web-versioned-c49d78ac59"}},
		{"other data of a config that restarts", setData(0, "file", "new"), true, []string{"web", "web-live", "web-versioned-c49d78ac59"}},
		{"a further file of a config that restarts", setData(0, "second", ""), true, []string{"web", "web-live", "web-versioned-c49d78ac59"}},
		{"other data of a live config", setData(1, "file", "new"), false, []string{"web", "web-live", "web-versioned-c49d78ac59"}},
		{"other data of a versioned config", setData(2, "file", "new"), true, []string{"web", "web-live", "web-versioned-874c4505be"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			before, after := configBox(t), configBox(t, row.change)
			if rolls := encodeTemplate(t, before) != encodeTemplate(t, after); rolls != row.rolls {
				t.Errorf("the pod template changes: %v, want %v", rolls, row.rolls)
			}
			if names := configMapNames(t, after); !slices.Equal(names, row.names) {
				t.Errorf("the ConfigMaps are %q, want %q", names, row.names)
			}
		})
	}
}

func setData(config int, key, value string) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) { box.Spec.Configs[config].Data[key] = value }
}

func encodeTemplate(t *testing.T, box *modelv1.ModelBox) string {
	t.Helper()
	template, err := PodTemplate(box)
	if err != nil {
		t.Fatal(err)
	}
	data, err := template.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What tells that pods are to be restarted is not left to the overlay, which has the last word on all else.
func TestConfigsHashIsNotTheOverlays(t *testing.T) {
	overlay := func(box *modelv1.ModelBox) {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{}
		box.Spec.PodTemplate.Annotations = map[string]string{modelv1.ConfigsHashAnnotation: "mine"}
	}
	before, after := configBox(t, overlay), configBox(t, overlay, setData(0, "file", "new"))
	if encodeTemplate(t, before) == encodeTemplate(t, after) {
		t.Error("the pod template stays the same when the data changes")
	}
}

// A file may have any name and any content: two sets of files never have the hash of each other.
func TestDataIsHashedWithoutAmbiguity(t *testing.T) {
	seen := map[string]string{}
	for name, data := range map[string]map[string]string{
		"none":                    {},
		"an empty file":           {"a": ""},
		"a file":                  {"a": "b"},
		"content in the name":     {"ab": ""},
		"two files":               {"a": "b", "c": "d"},
		"two files as one":        {"a": "b1:c1:d"},
		"content of the other":    {"a": "d", "c": "b"},
		"another line at the end": {"a": "b\n"},
	} {
		box := configBox(t, func(box *modelv1.ModelBox) { box.Spec.Configs[2].Data = data })
		configMap := ConfigMapName(box, &box.Spec.Configs[2])
		if other, known := seen[configMap]; known {
			t.Errorf("%q and %q are both in %s", name, other, configMap)
		}
		seen[configMap] = name
	}
}
