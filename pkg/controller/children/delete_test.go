// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package children

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/fixture"
)

func TestDeleteLeavesWhatIsHeldAndWhatIsNotTheOwners(t *testing.T) {
	f := newTestEngine(t, newSettings(func(settings *corev1.ConfigMap) {
		settings.Data = map[string]string{"first": "1", "second": "2"}
	}), foreignSecret())
	f.converge(t)
	// A deletion does not depend on what the owner asks for.
	f.settings.Data = nil
	if err := f.Delete(t.Context(), f.settings, func(s *apply.Step) bool { return s.Name() == "settings-second" }); err != nil {
		t.Fatal(err)
	}
	fixture.Check(t, "requests", []string{"delete secrets settings-first"}, f.requests())
	fixture.Check(t, "events", []string{"Normal DeletedSecret Deleted Secret settings-first"}, f.told())

	f.catchUp(t)
	owned, err := f.Owned(f.settings)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, child := range owned {
		names = append(names, child.GetName())
	}
	fixture.Check(t, "left", []string{"settings-second"}, names)
}
