// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command modelbox-apiserver serves the model.github.com API group and runs its controllers.
package main

import (
	"os"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"

	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app"
	"github.com/sharelinuxs/modelbox-apiserver/cmd/modelbox-apiserver/app/options"
)

func main() {
	ctx := genericapiserver.SetupSignalContext()
	o := options.New()
	cmd := app.NewCommand(ctx, o)
	os.Exit(cli.Run(cmd))
}
