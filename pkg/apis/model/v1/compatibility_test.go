// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package v1_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// The server must always be able to read every object that a release has stored. testdata/HEAD holds a box with every field set, in
// each of the formats, as this code encodes it. The folders beside it hold the objects that releases stored, and never change.
// After an intended change of the types, UPDATE_COMPATIBILITY_FIXTURE_DATA=true writes HEAD again. Before a release, HEAD is copied
// to a folder of the release's name, which is added to releases.
func TestCompatibility(t *testing.T) {
	scheme := newScheme(t)
	options := roundtrip.NewCompatibilityTestOptions(scheme)
	for _, kind := range storedKinds(scheme) {
		options.Kinds = append(options.Kinds, modelv1.SchemeGroupVersion.WithKind(kind))
	}
	// A rolling update has one of several forms. HEAD has the object, since the releases have stored the other forms.
	options.FillFuncs = map[reflect.Type]roundtrip.FillFunc{
		reflect.TypeFor[*modelv1.RollingUpdate](): func(_ string, _ int, object any) {
			*object.(*modelv1.RollingUpdate) = modelv1.RollingUpdate{
				Type:           modelv1.RollingUpdateObject,
				MaxSurge:       ptr.To(intstr.FromString("maxSurgeValue")),
				MaxUnavailable: ptr.To(intstr.FromString("maxUnavailableValue")),
			}
		},
	}
	options.Complete(t).Run(t)
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := modelv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// storedKinds returns the kinds of the stored objects of the API group. A kind that only requests an action has no spec.
func storedKinds(scheme *runtime.Scheme) []string {
	var kinds []string
	for kind, goType := range scheme.KnownTypes(modelv1.SchemeGroupVersion) {
		if _, hasSpec := goType.FieldByName("Spec"); hasSpec && goType.PkgPath() == reflect.TypeFor[modelv1.ModelBox]().PkgPath() {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// releases have stored objects of these kinds, which have to be read.
var releases = map[string][]string{"v1.0": {"ModelBox"}}

// Without this test, the objects that a release stored could go missing unnoticed.
func TestCompatibilityDataIsComplete(t *testing.T) {
	var want []string
	add := func(folder, kind string, suffixes ...string) {
		for _, suffix := range suffixes {
			want = append(want, filepath.Join("testdata", folder, "model.github.com.v1."+kind+"."+suffix))
		}
	}
	for _, kind := range storedKinds(newScheme(t)) {
		add("HEAD", kind, "json", "pb", "yaml")
	}
	for release, kinds := range releases {
		for _, kind := range kinds {
			// What the release stored, and that as this code stores it again: with the fields that there are since, empty
			// ones included.
			add(release, kind, "json", "pb", "yaml", "after_roundtrip.pb")
		}
	}
	got, err := filepath.Glob("testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
