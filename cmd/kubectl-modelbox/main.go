// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-modelbox is the plugin of kubectl for boxes: kubectl runs it as "kubectl modelbox".
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	modelboxcli "github.com/sharelinuxs/modelbox-apiserver/pkg/cli"
)

func main() {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	cmd := modelboxcli.NewCommand(streams)
	cmd.SetContext(ctx)
	err := cli.RunNoErrOutput(cmd)
	stop()
	cmdutil.CheckErr(err) // which exits as kubectl does
}
