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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// What was ever stored must be read for ever. testdata/HEAD holds a box with every field set, in each of the formats,
// as this code encodes it; the folders beside it hold what releases stored, and never change. After an intended
// change of the types, UPDATE_COMPATIBILITY_FIXTURE_DATA=true writes HEAD anew; before a release, HEAD is copied to
// a folder of the release's name, which is added to releases.
func TestCompatibility(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := modelv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	options := roundtrip.NewCompatibilityTestOptions(scheme)
	options.Kinds = []schema.GroupVersionKind{modelv1.SchemeGroupVersion.WithKind("ModelBox")}
	// A rolling update is one of several forms. The object is that of HEAD, since the releases have stored the others.
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

// releases are those whose objects have to be read.
var releases = []string{"v1.0"}

// Without this, what a release stored could go missing and nobody would notice.
func TestCompatibilityDataIsComplete(t *testing.T) {
	var want []string
	for _, folder := range append([]string{"HEAD"}, releases...) {
		for _, format := range []string{"json", "pb", "yaml"} {
			want = append(want, filepath.Join("testdata", folder, "model.github.com.v1.ModelBox."+format))
		}
	}
	// What a release stored, as this code stores it again: with the fields that there are since, empty ones included.
	for _, release := range releases {
		want = append(want, filepath.Join("testdata", release, "model.github.com.v1.ModelBox.after_roundtrip.pb"))
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
