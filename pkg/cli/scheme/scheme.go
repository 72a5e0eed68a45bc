// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package scheme is what the commands of the plugin know of boxes that they write or judge without the server.
package scheme

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
)

// Scheme has the kinds of the server, served and internal, with their defaults and conversions.
var Scheme = runtime.NewScheme()

func init() { install.Install(Scheme) }
