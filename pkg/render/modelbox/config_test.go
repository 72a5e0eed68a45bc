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
		{"a binary file of a config that restarts", setBinaryData(0), true, []string{"web", "web-live", "web-versioned-c49d78ac59"}},
		{"a binary file of a live config", setBinaryData(1), false, []string{"web", "web-live", "web-versioned-c49d78ac59"}},
		{"a binary file of a versioned config", setBinaryData(2), true, []string{"web", "web-live", "web-versioned-57447beee1"}},
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

func setBinaryData(config int) func(*modelv1.ModelBox) {
	return func(box *modelv1.ModelBox) { box.Spec.Configs[config].BinaryData = map[string][]byte{"logo": {0xff}} }
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
	type data = map[string]string
	type binaryData = map[string][]byte
	for name, files := range map[string]struct {
		data
		binaryData
	}{
		"none":                      {},
		"an empty file":             {data: data{"a": ""}},
		"a file":                    {data: data{"a": "b"}},
		"content in the name":       {data: data{"ab": ""}},
		"two files":                 {data: data{"a": "b", "c": "d"}},
		"two files as one":          {data: data{"a": "b1:c1:d"}},
		"content of the other":      {data: data{"a": "d", "c": "b"}},
		"another line at the end":   {data: data{"a": "b\n"}},
		"a binary file":             {binaryData: binaryData{"a": []byte("b")}},
		"two files, one binary":     {data{"a": "b"}, binaryData{"c": []byte("d")}},
		"two files, the other one":  {data{"c": "d"}, binaryData{"a": []byte("b")}},
		"content as a binary file":  {data: data{"a": "bbinary:1:c1:d"}},
		"a binary file as the text": {data: data{"a": "b", "binary:": ""}},
	} {
		box := configBox(t, func(box *modelv1.ModelBox) {
			box.Spec.Configs[2].Data, box.Spec.Configs[2].BinaryData = files.data, files.binaryData
		})
		configMap := ConfigMapName(box, &box.Spec.Configs[2])
		if other, known := seen[configMap]; known {
			t.Errorf("%q and %q are both in %s", name, other, configMap)
		}
		seen[configMap] = name
	}
}
