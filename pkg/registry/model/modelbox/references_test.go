// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

const (
	someHashes    = `{"of":"a","objects":{"Secret/db":{"password":"1"}}}`
	changedHashes = `{"of":"a","objects":{"Secret/db":{"password":"2"}}}`
	otherHashes   = `{"of":"b","objects":{}}`
)

// restarting returns a box that restarts on references, with the hashes if they are not empty, and with a Secret.
func restarting(hashes string, changes ...func(*model.ModelBox)) *model.ModelBox {
	box := &model.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: model.ModelBoxSpec{
			Name: "web", Image: "nginx:1", RestartOn: ptr.To(model.RestartOnReferences),
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "db"}}}},
		},
		Status: model.ModelBoxStatus{Replicas: 2},
	}
	if hashes != "" {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{modelv1.ReferencesAnnotation: hashes}}}
	}
	for _, change := range changes {
		change(box)
	}
	return box
}

func withoutRestarts(box *model.ModelBox) { box.Spec.RestartOn = nil }

func TestUpdatesKeepTheHashesOfReferences(t *testing.T) {
	for _, row := range []struct {
		name     string
		box, old *model.ModelBox
		want     string
	}{
		{"a file without hashes", restarting(""), restarting(someHashes), someHashes},
		{"the hashes of the controller", restarting(changedHashes), restarting(someHashes), changedHashes},
		{"a box that no longer restarts", restarting("", withoutRestarts), restarting(someHashes), ""},
		{"a box that restarts from now on", restarting(""), restarting("", withoutRestarts), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			keepOmittedReferences(row.box, row.old)
			if got := recordedReferences(row.box); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestRecordedReferencesHaveTheAuthorOfTheChange(t *testing.T) {
	otherImage := func(box *model.ModelBox) { box.Spec.Image = "nginx:2" }
	for _, row := range []struct {
		name     string
		box, old *model.ModelBox
		want     string
	}{
		{"the first hashes", restarting(someHashes), restarting(""), "anna"},
		{"the hashes of other references", restarting(otherHashes), restarting(someHashes), "anna"},
		{"a restart", restarting(changedHashes), restarting(someHashes), "system:apiserver"},
		{"another image as well", restarting(otherHashes, otherImage), restarting(someHashes), "system:apiserver"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.old.Annotations = map[string]string{modelv1.ChangedByAnnotation: "anna"}
			ctx := genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: "system:apiserver"})
			noteChange(ctx, row.box, row.old)
			if got := row.box.Annotations[modelv1.ChangedByAnnotation]; got != row.want {
				t.Errorf("changed by %q, want %q", got, row.want)
			}
		})
	}
}

func TestReferenceWarnings(t *testing.T) {
	notWatched, once := "spec.restartOn: "+warn.SecretsNotWatched("db"), "spec.restartOn: "+warn.RestartsOnce
	for _, row := range []struct {
		name           string
		watchesSecrets bool
		box, old       *model.ModelBox
		want           []string
	}{
		{"a new box", true, restarting(""), nil, nil},
		{"a new box on a server that does not watch Secrets", false, restarting(""), nil, []string{notWatched}},
		{"a box that restarts from now on", true, restarting(""), restarting("", withoutRestarts), []string{once}},
		{"a box without pods", true, restarting(""), restarting("", withoutRestarts, func(box *model.ModelBox) { box.Status.Replicas = 0 }), nil},
		{"a box that restarted before", true, restarting(someHashes), restarting(someHashes), nil},
		{"a box without restarts", false, restarting("", withoutRestarts), nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := Strategy{validator: SpecValidator{WatchesSecrets: row.watchesSecrets}}
			if diff := cmp.Diff(row.want, s.referenceWarnings(row.box, row.old)); diff != "" {
				t.Errorf("warnings, -want +got:\n%s", diff)
			}
		})
	}
}
