// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package fuzzer

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func document() map[string]any {
	return map[string]any{"spec": map[string]any{
		"image":    "nginx",
		"replicas": int64(2),
		"ports":    []any{map[string]any{"port": int64(80)}, map[string]any{"port": int64(81)}},
	}}
}

// donor has what the document has not: a name of the ports, and a field.
func donor() map[string]any {
	return map[string]any{"spec": map[string]any{
		"paused": true,
		"ports":  []any{map[string]any{"port": int64(443), "name": "https"}},
	}}
}

func TestEditsAreMadeByTheirChoices(t *testing.T) {
	editor, original := NewEditor(document(), donor()), document()
	random := rand.NewChaCha8([32]byte{})
	seen := map[string]bool{}
	for range 1000 {
		choices := make([]byte, 8)
		_, _ = random.Read(choices)
		edited := editor.Edit(original, choices)
		if diff := cmp.Diff(edited, editor.Edit(document(), choices)); diff != "" {
			t.Fatalf("the same choices make other edits, -first +second:\n%s", diff)
		}
		seen[cmp.Diff(document(), edited)] = true
		// The result may be changed: it shares nothing with the original and with other results.
		if fields, isStruct := edited.(map[string]any); isStruct {
			fields["changed"] = true
		}
	}
	if diff := cmp.Diff(document(), original); diff != "" {
		t.Errorf("the document was changed, -before +after:\n%s", diff)
	}
	if len(seen) < 100 {
		t.Errorf("a thousand edits made %d different documents", len(seen))
	}
}

func TestWithoutChoicesNothingIsEdited(t *testing.T) {
	if diff := cmp.Diff(any(document()), NewEditor().Edit(document(), nil)); diff != "" {
		t.Errorf("-document +edited:\n%s", diff)
	}
}

// Each kind of edit turns up sooner or later.
func TestEdits(t *testing.T) {
	ports := func(edited any) []any {
		list, _ := specOf(edited)["ports"].([]any)
		return list
	}
	for _, row := range []struct {
		name string
		made func(edited any) bool
	}{
		{"a field that only another document has", func(edited any) bool { return specOf(edited)["paused"] == true }},
		{"an element of a list that only another document has", func(edited any) bool {
			list := ports(edited)
			return len(list) == 3 && cmp.Equal(list[2], any(map[string]any{"port": int64(443), "name": "https"}))
		}},
		{"an element of a list twice", func(edited any) bool {
			list := ports(edited)
			return len(list) == 3 && cmp.Equal(list[0], list[2])
		}},
		{"a list in another order", func(edited any) bool {
			list := ports(edited)
			return len(list) == 2 && cmp.Equal(list[0], any(map[string]any{"port": int64(81)})) && cmp.Equal(list[1], any(map[string]any{"port": int64(80)}))
		}},
		{"a list without an element", func(edited any) bool { return len(ports(edited)) == 1 }},
		{"a number that is nearby", func(edited any) bool {
			replicas, isNumber := specOf(edited)["replicas"].(int64)
			return isNumber && replicas > 2 && replicas < 20
		}},
		{"a text with something in it", func(edited any) bool {
			image, _ := specOf(edited)["image"].(string)
			return len(image) == len("nginx")+1
		}},
		{"null", func(edited any) bool {
			image, exists := specOf(edited)["image"]
			return exists && image == nil
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			editor, random := NewEditor(document(), donor()), rand.NewChaCha8([32]byte{})
			for range 20000 {
				choices := make([]byte, 6)
				_, _ = random.Read(choices)
				if row.made(editor.Edit(document(), choices)) {
					return
				}
			}
			t.Error("it never turned up")
		})
	}
}

// specOf returns the spec of a document, or nothing if it is no longer a struct.
func specOf(edited any) map[string]any {
	fields, _ := edited.(map[string]any)
	spec, _ := fields["spec"].(map[string]any)
	return spec
}
