// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func TestServicesOfAStackWithoutOneAreNotDeleted(t *testing.T) {
	shop := stack("shop", "shop-uid")
	absent := AbsentOwner{"modelstacks", testNamespace, "shop", "shop-uid"}
	for _, row := range []struct {
		name     string
		recorded []runtime.Object
		stored   *modelv1.ModelStack
		corrupt  bool
		want     []AbsentOwner
	}{
		{"the stack is recorded", []runtime.Object{revisionOf(t, shop)}, nil, false, nil},
		{"the stack is stored", nil, shop, false, nil},
		{"the stack is stored and cannot be read", nil, nil, true, nil},
		{"another stack of the name is stored", nil, stack("shop", "another"), false, []AbsentOwner{absent}},
		{"another stack is stored", nil, stack("shop2", "another"), false, []AbsentOwner{absent}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFixture(t, append(row.recorded, externalChild(shop, "v1", "Service"), externalChild(shop, "discovery.k8s.io/v1", "EndpointSlice"))...)
			situation := Empty
			if row.stored != nil {
				situation = Foreign
				f.putStacks(row.stored)
			}
			if row.corrupt {
				situation = Foreign
				if _, err := f.store.client.Put(t.Context(), f.stacks.rawKey(types.NamespacedName{Namespace: testNamespace, Name: "shop"}), "?"); err != nil {
					t.Fatal(err)
				}
			}
			f.setLease(another)
			expectAbsent(t, f, situation, row.want...)
		})
	}
}
