"""Pure numerics in the letters of the paper; signals are columns.

*Classification with Incoherent Kernel Dictionary Learning*, Ilie-Ablachim and
Dumitrescu, 2021.  Equations are numbered in order of appearance; Algorithm 1 is
linear (IDL), Algorithm 2 is kernel (IKDL).  Nothing here reads files, prints or
knows scikit-learn.

========== =========================================================================
letter     meaning
========== =========================================================================
Y_i        the signals of class i, one per column
D_i        the atoms of class i, in coordinates whose metric is the identity
A_i        the atoms of class i as combinations of its training signals (kernel)
X          the codes, one column per signal
E, F       the error Y - D X, and the error without one atom
K_i        the kernel matrix of class i
P          the penalty on the atoms of one class, from the atoms of all others
n, s       atoms per class, nonzeros per code
========== =========================================================================
"""
