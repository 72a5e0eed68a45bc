// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"testing"

	basecompatibility "k8s.io/component-base/compatibility"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller"
)

// Whatever else it did, it would need a server, its configuration or its store.
func TestAddControllersAddsNothingWhereNoneIsEnabled(t *testing.T) {
	allButThem := []string{"*"}
	for _, name := range controller.KnownControllers() {
		allButThem = append(allButThem, "-"+name)
	}
	for _, controllers := range [][]string{{"-modelbox"}, allButThem, nil} {
		t.Run(fmt.Sprint(controllers), func(t *testing.T) {
			o := options.NewForRegistry(basecompatibility.NewComponentGlobalsRegistry())
			o.Controllers.Controllers = controllers
			if err := addControllers(t.Context(), nil, nil, o, nil); err != nil {
				t.Error(err)
			}
		})
	}
}
