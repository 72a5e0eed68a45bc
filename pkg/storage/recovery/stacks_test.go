// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// putStack stores the stack shop.
func (f *fixture) putStack(uid types.UID) {
	f.t.Helper()
	stack := &model.ModelStack{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "shop", UID: uid}}
	stored, err := runtime.Encode(f.config.Stacks.StorageConfig.Codec, stack)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.store.client.Put(f.t.Context(), "/registry/model.github.com/modelstacks/"+testNamespace+"/shop", string(stored)); err != nil {
		f.t.Fatal(err)
	}
}

func ownedByStack(owned metav1.Object) {
	owned.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "model.github.com/v1", Kind: "ModelStack", Name: "shop", UID: "shop-uid", Controller: ptr.To(true)}})
}

// A box whose stack was lost would be deleted as garbage if it still belonged to that.
func TestRecoveredBoxBelongsToItsStackIfThatIsStored(t *testing.T) {
	for _, row := range []struct {
		name   string
		stored types.UID
		want   int
	}{
		{"the stack is stored", "shop-uid", 1},
		{"the stack was lost", "", 0},
		{"another stack of the name is stored", "other-uid", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			web := box("web", "web-uid", func(box *modelv1.ModelBox) { ownedByStack(box) })
			f := newFixture(t, deploymentOf(t, web))
			if row.stored != "" {
				f.putStack(row.stored)
			}
			f.serve(Empty)
			if owners := f.stored()["web"].OwnerReferences; len(owners) != row.want {
				t.Errorf("the box has the owners %v, want %d", owners, row.want)
			}
		})
	}
}

func TestStoreIsNotServedFromWhileServicesOfItsStacksWouldBeDeleted(t *testing.T) {
	for _, row := range []struct {
		name   string
		stored types.UID
		isLost bool
	}{
		{"the stack is stored", "shop-uid", false},
		{"the stack was lost", "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			web := box("web", "web-uid")
			service := childOf(box("mail", "mail-uid"), "v1", "Service")
			ownedByStack(service)
			f := newFixture(t, deploymentOf(t, web), service)
			if row.stored != "" {
				f.putStack(row.stored)
			}
			_, err := f.attempt()
			if isLost := err != nil && strings.Contains(err.Error(), "1 Services are controlled by stacks that are not in the store"); isLost != row.isLost {
				t.Errorf("got %v", err)
			}
		})
	}
}
