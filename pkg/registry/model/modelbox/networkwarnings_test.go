// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// findNetwork knows the network lan of the namespace default, and old, which is being deleted.
func findNetwork(_ context.Context, namespace, name string) (*model.Network, error) {
	network := &model.Network{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	switch {
	case name == "broken":
		return nil, errors.New("the storage is unavailable")
	case namespace == metav1.NamespaceDefault && name == "lan":
		return network, nil
	case namespace == metav1.NamespaceDefault && name == "old":
		network.DeletionTimestamp = &metav1.Time{}
		return network, nil
	default:
		return nil, apierrors.NewNotFound(model.Resource("networks"), name)
	}
}

func networks(names ...string) func(*model.ModelBox) {
	return func(box *model.ModelBox) { box.Spec.Networks = names }
}

func TestNetworkWarnings(t *testing.T) {
	isMissing, isDeleting := ": "+warn.NoNetwork("wan"), ": "+warn.NetworkDeleted("old")
	for _, row := range []struct {
		name     string
		user     string
		box, old *model.ModelBox
		want     []string
	}{
		{"a network that there is", "jane", webBox(networks("lan")), nil, nil},
		{"one that there is not", "jane", webBox(networks("lan", "wan")), nil, []string{"spec.networks[1]" + isMissing}},
		{"one that is being deleted", "jane", webBox(networks("old")), nil, []string{"spec.networks[0]" + isDeleting}},
		{"one that the box has already", "jane", webBox(networks("wan", "old")), webBox(networks("wan")), []string{"spec.networks[1]" + isDeleting}},
		{"one that cannot be looked for", "jane", webBox(networks("broken")), nil, nil},
		{"a user who may not read networks", "john", webBox(networks("wan")), nil, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			if diff := cmp.Diff(row.want, newStrategy().networkWarnings(byUser(t, row.user), row.box, row.old)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if got := newStrategy().WarningsOnCreate(byUser(t, "jane"), webBox(networks("wan"))); len(got) != 1 {
		t.Errorf("creating a box warns of %q", got)
	}
	if got := newStrategy().WarningsOnUpdate(byUser(t, "jane"), webBox(networks("wan")), webBox()); !slices.Contains(got, "spec.networks[0]"+isMissing) {
		t.Errorf("updating a box warns of %q", got)
	}
}
